import type { Contact } from "@mailsvc/sdk/contract";
import { expect } from "vitest";
import type { FormerService } from "./former-services.ts";
import type { Result, Setup } from "./harness.ts";
import type { Beside } from "./world.ts";

export const KEYS = { LISTMONK_API_USER: "mover", LISTMONK_API_TOKEN: "secret", RESEND_API_KEY: "re_secret" };
const PARTS = ["lists", "suppressions", "people", "memberships", "templates"] as const;

/** Runs a command with a former service beside the server. */
export const beside = ({ world, mailsvc }: Beside, service: FormerService | null) => {
  const fetch: typeof globalThis.fetch = (url, init) =>
    String(url).startsWith(world.url) || service === null ? world.fetch(url as string, init) : service.fetch(url, init);
  return (argv: readonly string[], setup: Setup = {}) => mailsvc(argv, { ...setup, fetch, env: { ...KEYS, ...setup.env } });
};

const numbers = (sums: Record<string, number>) => Object.fromEntries(Object.entries(sums).filter(([, n]) => n > 0));

/** Checks that every row that was read is accounted for, and returns the numbers that are not 0. */
export const readReport = ({ json }: Result) => {
  for (const part of PARTS) {
    const { read, added, changed, unchanged, leftOut, failed } = json[part];
    expect([part, added + changed + unchanged + leftOut + failed]).toEqual([part, read]);
  }
  return Object.fromEntries(PARTS.flatMap((part) => (json[part].read > 0 ? [[part, numbers(json[part])]] : [])));
};

export const people = async ({ world }: Beside) =>
  Object.fromEntries((await world.sdk.contacts.list({ limit: 100 }).toArray()).map((one: Contact) => [one.email.toLowerCase(), one]));

export const members = async ({ world }: Beside, name: string): Promise<string[]> => {
  const list = (await world.sdk.lists.list({ search: name })).data.find((one) => one.name === name);
  const all = list ? await world.sdk.lists.contacts(list.id, { limit: 100 }).toArray() : [];
  return all.map(({ contact }) => contact.email.toLowerCase()).sort();
};

/** All that a move can change, without times. */
export const everything = async (cli: Beside) => {
  const { sdk } = cli.world;
  const lists = await sdk.lists.list().toArray();
  return {
    contacts: Object.values(await people(cli)).map(({ id, email, status, customFields, tags, updatedAt }) => [
      id,
      email,
      status,
      customFields,
      tags,
      updatedAt,
    ]),
    suppressions: (await sdk.suppressions.list({ limit: 100 }).toArray()).map(({ id, scope, reason, updatedAt }) => [
      id,
      scope,
      reason,
      updatedAt,
    ]),
    lists: await Promise.all(lists.map(async ({ id, name }) => [id, name, await members(cli, name)])),
    templates: (await sdk.templates.list().toArray()).map(({ id, slug, revision }) => [id, slug, revision]),
  };
};
