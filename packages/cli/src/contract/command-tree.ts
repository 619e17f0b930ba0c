import { requiredGrant } from "@mailsvc/sdk/contract";
import type { Argument, Command, Option } from "commander";
import { isGlobal } from "../runtime/globals.ts";
import { isDestructive, isWrite } from "../runtime/request.ts";
import { findArgumentChoices, findCommandMetadata, findOptionMetadata } from "./metadata.ts";

/** A flag, as data. */
export interface OptionNode {
  flag: string;
  short?: string;
  type: string;
  required: boolean;
  repeatable: boolean;
  choices?: readonly string[];
  default?: unknown;
  description: string;
  global: boolean;
}

/** An argument, as data. */
interface ArgumentNode {
  name: string;
  required: boolean;
  description: string;
  choices?: readonly string[];
}

/** A command and everything below it, as data: for completion and `mailsvc commands`. */
export interface CommandNode {
  name: string;
  /** The full command: `mailsvc emails list`. */
  command: string;
  summary: string;
  arguments: ArgumentNode[];
  options: OptionNode[];
  endpoint?: { id: string; method: string; path: string; access: string };
  writes?: boolean;
  destructive?: boolean;
  commands: CommandNode[];
}

/** True for hidden commands, which are listed nowhere. Commander has no public getter for this. */
export function isHidden(command: Command): boolean {
  return (command as unknown as { _hidden?: boolean })._hidden === true;
}

/** Builds the tree below a command. */
export function buildTree(command: Command, before = ""): CommandNode {
  const whole = `${before}${before === "" ? "" : " "}${command.name()}`;
  const facts = findCommandMetadata(command);
  return {
    name: command.name(),
    command: whole,
    summary: command.summary() || command.description().split("\n")[0] || "",
    arguments: command.registeredArguments.map(buildArgumentNode),
    options: command.options.filter((o) => !o.hidden).map(buildOptionNode),
    ...(facts
      ? {
          endpoint: {
            id: facts.id,
            method: facts.endpoint.method,
            path: facts.endpoint.path,
            access: requiredGrant(facts.endpoint.access) ?? String(facts.endpoint.access),
          },
          writes: isWrite(facts.endpoint.method),
          destructive: isDestructive(facts.endpoint),
        }
      : {}),
    commands: command.commands.filter((c) => !isHidden(c)).map((c) => buildTree(c, whole)),
  };
}

function buildOptionNode(option: Option): OptionNode {
  const facts = findOptionMetadata(option);
  return {
    flag: option.long ?? option.flags,
    ...(option.short ? { short: option.short } : {}),
    type: facts?.type ?? (option.required || option.optional ? "text" : "boolean"),
    required: facts?.required ?? false,
    repeatable: facts?.repeatable ?? false,
    ...(facts?.choices ? { choices: facts.choices } : {}),
    ...(facts?.default === undefined ? {} : { default: facts.default }),
    description: option.description,
    global: isGlobal(option),
  };
}

function buildArgumentNode(argument: Argument): ArgumentNode {
  const choices = findArgumentChoices(argument);
  return { name: argument.name(), required: argument.required, description: argument.description, ...(choices ? { choices } : {}) };
}
