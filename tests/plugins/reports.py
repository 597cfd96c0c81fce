import pytest
from _pytest.runner import runtestprotocol

# seconds; a shorter one tells nobody anything
_NOTABLE = 0.1


class FewReports:
    """Report a test that passed once, not also its beginning, set-up, teardown and end.

    Each report takes as long as a short test.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed or report.duration > _NOTABLE:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(FewReports())
