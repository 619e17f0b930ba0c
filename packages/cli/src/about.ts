import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Argument, Command, Option } from "commander";
import type { FieldKind } from "./fields.ts";

/** What is known of a flag beyond what commander keeps; completion and `mailsvc commands` read it. */
export interface OptionFacts {
  type: FieldKind | "file";
  required?: boolean;
  repeatable?: boolean;
  choices?: readonly string[];
  default?: unknown;
}

/** The endpoint behind a command. */
export interface CommandFacts {
  id: string;
  endpoint: Endpoint;
}

const options = new WeakMap<Option, OptionFacts>();
const choices = new WeakMap<Argument, readonly string[]>();
const commands = new WeakMap<Command, CommandFacts>();

/** Notes facts about a flag; answers the flag. */
export function noteOption(option: Option, facts: OptionFacts): Option {
  options.set(option, facts);
  return option;
}
export function factsOfOption(option: Option): OptionFacts | undefined {
  return options.get(option);
}

/** Notes the words an argument may be; answers the argument. */
export function noteChoices(argument: Argument, words: readonly string[] | undefined): Argument {
  if (words) choices.set(argument, words);
  return argument;
}
export function choicesOfArgument(argument: Argument): readonly string[] | undefined {
  return choices.get(argument);
}

/** Notes the endpoint behind a command; answers the command. */
export function noteCommand(command: Command, facts: CommandFacts): Command {
  commands.set(command, facts);
  return command;
}
export function factsOfCommand(command: Command): CommandFacts | undefined {
  return commands.get(command);
}
