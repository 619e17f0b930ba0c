import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Argument, Command, Option } from "commander";
import type { FieldKind } from "./fields.ts";

/** What is known of a flag beyond what commander keeps; completion and `mailsvc commands` read it. */
export interface OptionMetadata {
  type: FieldKind | "file";
  required?: boolean;
  repeatable?: boolean;
  choices?: readonly string[];
  default?: unknown;
}

/** The endpoint behind a command. */
export interface CommandMetadata {
  id: string;
  endpoint: Endpoint;
}

const options = new WeakMap<Option, OptionMetadata>();
const choices = new WeakMap<Argument, readonly string[]>();
const commands = new WeakMap<Command, CommandMetadata>();

/** Notes facts about a flag; answers the flag. */
export function setOptionMetadata(option: Option, facts: OptionMetadata): Option {
  options.set(option, facts);
  return option;
}
export function getOptionMetadata(option: Option): OptionMetadata | undefined {
  return options.get(option);
}

/** Notes the words an argument may be; answers the argument. */
export function setArgumentChoices(argument: Argument, words: readonly string[] | undefined): Argument {
  if (words) choices.set(argument, words);
  return argument;
}
export function getArgumentChoices(argument: Argument): readonly string[] | undefined {
  return choices.get(argument);
}

/** Notes the endpoint behind a command; answers the command. */
export function setCommandMetadata(command: Command, facts: CommandMetadata): Command {
  commands.set(command, facts);
  return command;
}
export function getCommandMetadata(command: Command): CommandMetadata | undefined {
  return commands.get(command);
}
