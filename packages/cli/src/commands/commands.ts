import { Command } from "commander";
import { act, type Run } from "../act.ts";
import { EXIT, EXIT_MEANING } from "../exit.ts";
import { type CommandNode, treeOf } from "../tree.ts";
import { table } from "../views/table.ts";

/** `mailsvc commands`: every command; with --json the whole tree with flags, types and endpoints. */
export function commandsCommand(run: Run, root: Command): Command {
  return act(
    new Command("commands").description("List every command; with --json their flags, types and endpoints too"),
    run,
    "local",
    async (session) => {
      const tree = treeOf(root);
      await session.out.data({ ...tree, version: session.host.version, exitCodes: EXIT_MEANING }, () =>
        table(
          leaves(tree),
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

function leaves(node: CommandNode): CommandNode[] {
  return node.commands.length === 0 ? [node] : node.commands.flatMap(leaves);
}
