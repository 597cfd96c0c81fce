"""Lists of risky merges (`/prrisks`), and how good such lists were (`/prrisks score`)."""
