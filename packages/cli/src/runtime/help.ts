import type { Command, Help, Option } from "commander";
import { GLOBAL_GROUP } from "./globals.ts";

/** Formats a command's help: description, arguments, subcommands, its own flags, then the flags that all commands share. */
export function formatHelp(command: Command, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const item = (term: string, about: string): string => helper.formatItem(term, width, about, helper);
  const lines = [`${helper.styleTitle("Usage:")} ${helper.styleUsage(helper.commandUsage(command))}`, ""];
  const about = helper.commandDescription(command);
  if (about) lines.push(helper.boxWrap(helper.styleCommandDescription(about), helper.helpWidth ?? 80), "");
  const section = (heading: string, items: string[]): void => {
    lines.push(...helper.formatItemList(heading, items, helper));
  };
  section(
    "Arguments:",
    helper
      .visibleArguments(command)
      .map((a) => item(helper.styleArgumentTerm(helper.argumentTerm(a)), helper.styleArgumentDescription(helper.argumentDescription(a)))),
  );
  for (const [heading, commands] of groupItems(helper, command.commands, helper.visibleCommands(command), "Commands:"))
    section(
      heading,
      commands.map((c) =>
        item(helper.styleSubcommandTerm(helper.subcommandTerm(c)), helper.styleSubcommandDescription(helper.subcommandDescription(c))),
      ),
    );
  const options = groupItems(helper, command.options, helper.visibleOptions(command), "Options:");
  const ordered = [...options].sort(([a], [b]) => Number(a === GLOBAL_GROUP) - Number(b === GLOBAL_GROUP));
  for (const [heading, list] of ordered)
    section(
      heading,
      list.map((o) => item(helper.styleOptionTerm(helper.optionTerm(o)), helper.styleOptionDescription(helper.optionDescription(o)))),
    );
  return lines.join("\n");
}

function groupItems<T extends Command | Option>(helper: Help, all: readonly T[], visible: readonly T[], heading: string): Map<string, T[]> {
  return helper.groupItems(
    [...all],
    [...visible],
    (item) => ("helpGroupHeading" in item ? item.helpGroupHeading : (item as Command).helpGroup()) || heading,
  );
}
