import { Command } from "commander";
import { buildTree, type CommandNode } from "../contract/command-tree.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { EXIT, EXIT_MEANING } from "../runtime/exit.ts";
import { renderTable } from "../views/table.ts";

/** `mailsvc commands`: lists every command; with --json, the tree with flags, types and endpoints. */
export function commandsCommand(run: Run, root: Command): Command {
  return runAction(
    new Command("commands").description("List every command; with --json their flags, types and endpoints too"),
    run,
    "local",
    async (session) => {
      const tree = buildTree(root);
      await session.out.data({ ...tree, version: session.host.version, exitCodes: EXIT_MEANING }, () =>
        renderTable(
          listLeaves(tree),
          [
            {
              title: "command",
              value: (c) => [c.command, ...c.arguments.map((a) => (a.required ? `<${a.name}>` : `[${a.name}]`))].join(" "),
            },
            { title: "what it does", value: (c) => c.summary, flexible: true },
          ],
          session.term.out,
          session.term.columns,
        ),
      );
      return EXIT.ok;
    },
  );
}

function listLeaves(node: CommandNode): CommandNode[] {
  return node.commands.length === 0 ? [node] : node.commands.flatMap(listLeaves);
}
