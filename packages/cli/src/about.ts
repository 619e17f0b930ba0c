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
export const noteOption = (option: Option, facts: OptionFacts): Option => {
  options.set(option, facts);
  return option;
};
export const factsOfOption = (option: Option): OptionFacts | undefined => options.get(option);

/** Notes the words an argument may be; answers the argument. */
export const noteChoices = (argument: Argument, words: readonly string[] | undefined): Argument => {
  if (words) choices.set(argument, words);
  return argument;
};
export const choicesOfArgument = (argument: Argument): readonly string[] | undefined => choices.get(argument);

/** Notes the endpoint behind a command; answers the command. */
export const noteCommand = (command: Command, facts: CommandFacts): Command => {
  commands.set(command, facts);
  return command;
};
export const factsOfCommand = (command: Command): CommandFacts | undefined => commands.get(command);
