"""Q of maps of open size."""
