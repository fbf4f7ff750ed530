"""Q of vectors of open dimension in numbers."""
