"""Files of repositories, from a mirror where there is one."""
