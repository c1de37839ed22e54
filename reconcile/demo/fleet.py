"""The boards, and the accounts whose jobs they run. Made up, but of the usual shape: a big pool and
two small ones, some accounts with a lot to do and many with little."""

from collections.abc import Sequence
from dataclasses import dataclass

from .workflows import Shape

FLOODING = "bulkbuild"  # the account that floods, unless another is named
GROUP_IS_OPEN = True  # to public repositories: half of these accounts build nothing else


@dataclass(frozen=True, slots=True)
class Pool:
    name: str  # the nodes' riseproject.dev/board
    boards: int
    label: str  # what a workflow says in runs-on
    image: str

    def node(self, number: int) -> str:
        return f"{self.name}-{number:02}"


@dataclass(frozen=True, slots=True)
class Repository:
    name: str
    pool: str
    shapes: Sequence[Shape]  # of its workflows, each as likely as the others
    private: bool = False


@dataclass(frozen=True, slots=True)
class Tenant:
    login: str
    pushes_an_hour: float
    repositories: Sequence[Repository]
    organization: bool = True

    @property
    def small(self) -> bool:
        """Whether it never asks for more than a handful of boards at once."""
        return all(Shape.MATRIX not in each.shapes for each in self.repositories)


RV1, JUPITER, BPI = "scw-em-rv1", "jupiter", "bpi-f3"

POOLS = (
    Pool(RV1, 24, "ubuntu-24.04-riscv", "registry.example/ubuntu-24.04:prod"),
    Pool(JUPITER, 6, "ubuntu-24.04-riscv-rvv", "registry.example/ubuntu-24.04-rvv:prod"),
    Pool(BPI, 4, "fedora-42-riscv", "registry.example/fedora-42:prod"),
)

TENANTS = (
    Tenant(
        "riseproject",
        12,
        (
            Repository("compiler", RV1, (Shape.PIPELINE, Shape.PIPELINE, Shape.MATRIX)),
            Repository("firmware", RV1, (Shape.PIPELINE,), private=True),
        ),
    ),
    Tenant("glacierdb", 8, (Repository("glacier", RV1, (Shape.PIPELINE,)),)),
    Tenant("nordwind", 7, (Repository("avionics", RV1, (Shape.PIPELINE,), private=True),)),
    Tenant(
        "vectorlab",
        9,
        (
            Repository("blas", JUPITER, (Shape.PIPELINE,)),
            Repository("codec", JUPITER, (Shape.SINGLE, Shape.PIPELINE), private=True),
        ),
    ),
    Tenant("tidewater-linux", 8, (Repository("packages", BPI, (Shape.PIPELINE, Shape.SINGLE)),)),
    Tenant("quillfont", 6, (Repository("shaper", RV1, (Shape.SINGLE,)),)),
    Tenant("lanternfish", 4, (Repository("ocean-sim", RV1, (Shape.LONG,)),)),
    Tenant(FLOODING, 1.5, (Repository("everything", RV1, (Shape.MATRIX,), private=True),)),
    Tenant(
        "mira-k",
        4,
        (
            Repository("riscv-toys", RV1, (Shape.SINGLE,)),
            Repository("thesis", RV1, (Shape.SINGLE,), private=True),
        ),
        organization=False,
    ),
)


def pool(name: str) -> Pool:
    return next(each for each in POOLS if each.name == name)


def routes_file(pools: Sequence[Pool] = POOLS) -> str:
    """As ROUTES_FILE has it."""
    return "\n".join(
        f'[[route]]\nlabels = ["{each.label}"]\npool = "{each.name}"\nimage = "{each.image}"\n'
        for each in pools
    )


def runners_config(order: str) -> str:
    """As RUNNERS_CONFIG has it. The cap is all of the largest pool: what keeps one account from
    having everything is the order alone. Registrations are looked through often, and logs of
    webhooks read often, because the demo is short."""
    most = max(each.boards for each in POOLS)
    return (
        f'scheduling = "{order}"\n'
        f"default_max_workers = {most}\n"
        "[run]\nsweep_interval = 120\nwebhook_interval = 120\n"
        f"[runner_group]\nallows_public_repositories = {str(GROUP_IS_OPEN).lower()}\n"
    )
