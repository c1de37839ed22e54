"""What the setup pages say, to somebody who has just clicked Install."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the two Apps, in words."""

    type: str  # of the accounts that it serves, in GitHub's word
    app: str
    account: str
    other_app: str
    other_account: str
    other_settings: str  # where GitHub keeps what is installed on such an account


_ORGANIZATIONS = ("the App for organizations", "an organization")
_PERSONAL = ("the App for personal accounts", "a personal account")
_OF_ORGANIZATION = "the organization's Settings, under GitHub Apps"
_OF_PERSON = "your own Settings, under Applications"

ORGANIZATIONS = Kind("Organization", *_ORGANIZATIONS, *_PERSONAL, _OF_PERSON)
PERSONAL = Kind("User", *_PERSONAL, *_ORGANIZATIONS, _OF_ORGANIZATION)


class Verdict(StrEnum):
    GENERAL = "general"
    REQUESTED = "requested"
    REQUESTED_WRONGLY = "requested_wrongly"
    INSTALLED = "installed"
    UPDATED = "updated"
    WRONG_ACCOUNT = "wrong_account"
    WAITING = "waiting"
    SILENT = "silent"
    UNREADABLE = "unreadable"


class Tone(StrEnum):
    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Page:
    """Its texts name what `Kind` has, and set code in backticks."""

    tone: Tone
    title: str
    lead: str
    steps: tuple[str, ...] = ()
    workflow: bool = False  # whether to show what to write into one
    again: bool = False  # whether it may say something else in a moment


_ASK = "Whoever gave you the link to this App has the link to the other one, too."
_TELL = (
    "Tell whoever runs this service, with the number behind `installation_id` in this page's"
    " address."
)
_LOOK = (
    "If that is you: look at the App's recent deliveries on GitHub, and at"
    " `reconcile trace --installation` with that number."
)

PAGES = {
    Verdict.GENERAL: Page(
        Tone.PLAIN,
        "RISC-V runners for {account}",
        "How to get runners for {account}. After an installation GitHub sends you here again, and"
        " this page says whether all is well.",
        (
            "Install {app} on {account}. For {other_account} there is another App.",
            "Choose the repositories whose jobs are to run here.",
            "Name the runner in a workflow, as below.",
        ),
        workflow=True,
    ),
    Verdict.REQUESTED: Page(
        Tone.PLAIN,
        "An owner has to approve this",
        "GitHub has asked the owners of the organization. Until one of them approves, nothing is"
        " installed, and jobs get no runners.",
        (
            "Tell an owner: the request is in the organization's Settings, under GitHub Apps.",
            "After that, name the runner in a workflow, as below.",
        ),
        workflow=True,
    ),
    Verdict.REQUESTED_WRONGLY: Page(
        Tone.BAD,
        "This App is not for organizations",
        "GitHub has asked the owners of an organization for {app}. Even if they approve, jobs get"
        " no runners through it.",
        (
            "Cancel the request, or tell an owner to decline it.",
            f"Ask for {{other_app}} instead. {_ASK}",
        ),
    ),
    Verdict.INSTALLED: Page(
        Tone.GOOD,
        "The runners are ready",
        "The right App is on the right kind of account: {app}, on {account}. There is nothing left"
        " to install.",
        (
            "Name the runner in a workflow of a repository that the App may use, as below.",
            "Push it. On GitHub the job is queued until a board is free, then it starts by itself.",
        ),
        workflow=True,
    ),
    Verdict.UPDATED: Page(
        Tone.GOOD,
        "Your changes have arrived",
        "The right App is on the right kind of account: {app}, on {account}. The repositories that"
        " you have chosen at GitHub are those whose jobs run here.",
        (
            "Name the runner in a workflow of such a repository, as below.",
            "Was a job queued before the App might use its repository? Then run it again.",
        ),
        workflow=True,
    ),
    Verdict.WRONG_ACCOUNT: Page(
        Tone.BAD,
        "This is the wrong App for this account",
        "You have installed {app}, but not on {account}. Jobs get no runners this way.",
        (
            "Uninstall it: in {other_settings}, choose Configure beside the App, then Uninstall.",
            f"Install {{other_app}} instead. {_ASK}",
        ),
    ),
    Verdict.WAITING: Page(
        Tone.PLAIN,
        "Waiting for GitHub",
        "GitHub sends us word of what you did within seconds. This page looks again by itself.",
        (
            "There is nothing for you to do meanwhile.",
            "When it is there, name the runner in a workflow, as below.",
        ),
        workflow=True,
        again=True,
    ),
    Verdict.SILENT: Page(
        Tone.PLAIN,
        "GitHub has told us nothing",
        "We have not heard of this installation within the last hour. Of older ones, and of those"
        " that are suspended or uninstalled, this page does not speak, and if you have saved it"
        " without a change, there was nothing to hear.",
        (
            "Was it there before? Try a workflow, as below: if its job starts, all is well.",
            f"Is it new? Then GitHub's webhook did not arrive. {_TELL} {_LOOK}",
        ),
        workflow=True,
        again=True,
    ),
    Verdict.UNREADABLE: Page(
        Tone.BAD,
        "We cannot look right now",
        "Our database does not answer. What you did at GitHub is done nevertheless.",
        ("Load this page again in a minute.",),
        workflow=True,
        again=True,
    ),
}
