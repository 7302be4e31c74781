"""Node classification on own tables: two CSV files in, a table of labels out.

python examples/own_tables.py
"""

import random
import tempfile
from pathlib import Path

import graphcon
from graphcon.training import predict, run
from graphcon.training.config import DataConfig, ModelConfig, Recipe, TrainerConfig

folder = Path(tempfile.mkdtemp())
random.seed(0)

# Tables such as one would have: people of two clubs, most of whose friends are in their own club.
club = {f"p{i}": random.choice(["chess", "rowing"]) for i in range(200)}
with (folder / "people.csv").open("w") as file:
    print("id,age,town,club", file=file)
    for person, name in club.items():
        print(
            f"{person},{random.gauss(40 if name == 'chess' else 30, 10):.0f},{random.choice('ABC')},{name}", file=file
        )
with (folder / "friends.csv").open("w") as file:
    print("source,destination", file=file)
    for person, name in club.items():
        same = [
            other for other, theirs in club.items() if (theirs == name) == (random.random() < 0.85) and other != person
        ]
        for friend in random.sample(same, 4):
            print(f"{person},{friend}", file=file)

recipe = Recipe(
    data=DataConfig(
        nodes=folder / "people.csv",
        edges=folder / "friends.csv",
        table=graphcon.data.TableOptions(target=("club",)),
    ),
    model=ModelConfig(name="graphcon-gcn", channels=16, steps=8),
    trainer=TrainerConfig(epochs=100),
)
metrics = run.train(recipe, folder / "run")
assert metrics is not None
print(f"test accuracy {metrics['test']['accuracy']:.2f}")

table, notes = predict.predict(graphcon.load(folder / "run"))
print(*notes, table.head(3), sep="\n")
