import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";

interface PromptDefinition extends Prompt {
  readonly write: (given: Readonly<Record<string, string>>) => string;
}

const PROMPTS: readonly PromptDefinition[] = [
  {
    name: "try_a_sequence",
    title: "Try out what a contact would get",
    description: "Dev mode: send or start something, move the clock and check each mail.",
    arguments: [
      { name: "what", description: "Such as: the welcome automation", required: true },
      { name: "days", description: "How many days to look ahead; 30 unless said" },
    ],
    write: ({ what = "", days = "30" }) =>
      `Try out ${what} on this development server, over ${days} days. Use simulate or api_call to start it, clock_advance to move on step by step, inbox_list and inbox_wait to see each mail, and inbox_expect_none for the days on which nothing may come. Report a table: day, subject, recipient, and what is wrong.`,
  },
  {
    name: "why_did_it_not_arrive",
    title: "Why did a mail not arrive?",
    description: "Find the reason, from the id of an email or the address of a person.",
    arguments: [{ name: "id_or_address", description: "em_…, or ada@example.com", required: true }],
    write: ({ id_or_address: about = "" }) =>
      `Find out why mail did not arrive: ${about}. If this is an address, call why with it, then emails_list with to, and why for the last email. If it is an id, call why. Follow "related" while it explains more. For an error code call errors_explain. Then answer in three parts: what happened, why, and what to do. Say what is certain and what is a guess; change nothing.`,
  },
];

/** The prompts, sorted by name. */
export function listPrompts(): Prompt[] {
  return PROMPTS.map(({ write: _, ...prompt }) => prompt);
}

/** A prompt with its arguments filled in; null if there is none of this name. The message names a missing argument instead. */
export function findPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult | { readonly missing: string } | null {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) return null;
  const missing = prompt.arguments?.find((argument) => argument.required === true && !given[argument.name]?.trim());
  if (missing) return { missing: missing.name };
  const text = prompt.write(given);
  return {
    ...(prompt.description !== undefined && { description: prompt.description }),
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}
