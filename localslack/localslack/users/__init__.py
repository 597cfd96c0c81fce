"""People who use an app, and the payloads that Slack sends the app for them."""
