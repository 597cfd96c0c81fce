"""People who use an app, and how Slack tells the app of it."""
