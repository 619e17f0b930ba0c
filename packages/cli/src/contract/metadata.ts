import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Argument, Command, Option } from "commander";
import type { FieldKind } from "./fields.ts";

/** Facts about a flag for completion and `mailsvc commands`, beyond those that commander stores. */
export interface OptionMetadata {
  type: FieldKind | "file";
  required?: boolean;
  repeatable?: boolean;
  choices?: readonly string[];
  default?: unknown;
}

/** The endpoint behind a command. */
interface CommandMetadata {
  id: string;
  endpoint: Endpoint;
}

const options = new WeakMap<Option, OptionMetadata>();
const choices = new WeakMap<Argument, readonly string[]>();
const commands = new WeakMap<Command, CommandMetadata>();

/** Sets the metadata of a flag and returns the flag. */
export function setOptionMetadata(option: Option, facts: OptionMetadata): Option {
  options.set(option, facts);
  return option;
}
export function findOptionMetadata(option: Option): OptionMetadata | null {
  return options.get(option) ?? null;
}

/** Sets the allowed values of an argument and returns the argument. */
export function setArgumentChoices(argument: Argument, words: readonly string[] | undefined): Argument {
  if (words) choices.set(argument, words);
  return argument;
}
export function findArgumentChoices(argument: Argument): readonly string[] | null {
  return choices.get(argument) ?? null;
}

/** Sets the endpoint behind a command and returns the command. */
export function setCommandMetadata(command: Command, facts: CommandMetadata): Command {
  commands.set(command, facts);
  return command;
}
export function findCommandMetadata(command: Command): CommandMetadata | null {
  return commands.get(command) ?? null;
}
