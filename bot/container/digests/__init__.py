"""The services that read, rate, review and summarise pull requests, and build digests of them."""
