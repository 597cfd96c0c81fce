"""Archive: the days that a site and feeds show, from what is in the store. GitHub and the model are not asked."""
