"""What is in ``deploy/``: the image, Compose, the chart and the units of systemd."""
