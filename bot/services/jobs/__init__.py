"""What is done later: the kinds of jobs and what each carries, for those who enqueue and for those who do them."""
