import { Command } from "commander";
import { buildTree, type CommandNode } from "../contract/command-tree.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, EXIT_MEANING } from "../runtime/exit.ts";
import { safeJson } from "../text/safe-text.ts";
import { renderTable } from "../text/table.ts";

/** `mailsvc commands [words...]`: lists all commands or those of a noun; with --json, the tree with flags, types and endpoints. */
export function commandsCommand(run: Run, root: Command): Command {
  return runAction(
    new Command("commands")
      .description("List all commands; with --json, as a tree with flags, types and endpoints")
      .argument("[words...]", "Only the commands below these words")
      .addHelpText("after", "\nExamples:\n  mailsvc commands\n  mailsvc commands agent runs --json"),
    run,
    "local",
    async (session, [words = []]) => {
      const whole = buildTree(root);
      const tree = getNode(whole, words as readonly string[]);
      const globalOptions = whole.options.filter((option) => option.global);
      const document = { ...omitGlobals(tree), globalOptions, version: session.host.version, exitCodes: EXIT_MEANING };
      // Indented in a pipe too: this is documentation.
      if (session.out.json) await session.out.text(`${safeJson(document, 2)}\n`);
      else
        await session.out.text(
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

/** Throws CliError, exit 2, when there is no such command. */
function getNode(root: CommandNode, words: readonly string[]): CommandNode {
  return words.reduce((node, word) => {
    const next = node.commands.find((command) => command.name === word);
    if (!next) throw usageError(`Unknown command "${word}" below ${node.command}.`, { next: "mailsvc commands" });
    return next;
  }, root);
}

/** The tree without the global options, which would be repeated at every command. */
function omitGlobals(node: CommandNode): CommandNode {
  return { ...node, options: node.options.filter((option) => !option.global), commands: node.commands.map(omitGlobals) };
}
