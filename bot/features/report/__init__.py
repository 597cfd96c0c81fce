"""The reports of several days, as files that any web server or repository can publish."""
