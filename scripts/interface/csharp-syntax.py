"""Reads the C# samples of the documents with tree-sitter: their syntax alone, for machines without .NET.

python csharp-syntax.py FILE.md…  ends with 1 where a sample is not C#, or where there is none.
"""

import re
import sys

import tree_sitter
import tree_sitter_c_sharp

parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))
samples = [
    (path, code)
    for path in sys.argv[1:]
    for code in re.findall(r"^```csharp\n(.*?)^```", open(path, encoding="utf-8").read(), re.M | re.S)
]
wrong = [path for path, code in samples if parser.parse(code.encode()).root_node.has_error]
for path in wrong:
    print(f"{path}: a C# sample is not well-formed")
print(f"{len(samples)} samples read")
sys.exit(1 if wrong or not samples else 0)
