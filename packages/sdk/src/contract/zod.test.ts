import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { z as zod } from "zod";
import * as z from "./zod.ts";

const isBuilt = (schema: object): boolean => Object.hasOwn(schema, "_zod");

describe("a schema of the contract", () => {
  test("is built when something is read from it, with what it consists of only as far as needed", () => {
    const name = z.string().min(2).meta({ id: "Name", description: "A name" });
    const person = z.object({ name, nick: name.optional() });
    const people = z.array(person);
    expect([name, person, people].map(isBuilt)).toEqual([false, false, false]);
    expect(Object.keys(person.shape)).toEqual(["name", "nick"]);
    expect([name, person, people].map(isBuilt)).toEqual([false, true, false]);
    expect(people.parse([{ name: "Ada" }])).toEqual([{ name: "Ada" }]);
    expect([name, person, people].map(isBuilt)).toEqual([true, true, true]);
  });

  test("stays the same object, and is one of zod's", () => {
    const name = z.string();
    const person = z.object({ name });
    expect(person.shape.name).toBe(name);
    expect(name).toBeInstanceOf(zod.ZodString);
    expect(person).not.toBeInstanceOf(zod.ZodString);
    expect("shape" in z.object({})).toBe(true);
    expect("shape" in z.string()).toBe(false);
    expect(zod.object({ person }).safeParse({ person: {} }).error?.issues).toMatchObject([{ path: ["person", "name"] }]);
  });

  test("keeps its metadata, and inherits that of the schema it was made of, but for the id", () => {
    const name = z.string().meta({ id: "Name", description: "A name" });
    expect(name.meta()).toEqual({ id: "Name", description: "A name" });
    expect(name.min(1).meta()).toEqual({ description: "A name" });
    expect(name.meta({ description: "Another" }).meta()).toEqual({ description: "Another" });
    expect(zod.toJSONSchema(z.object({ first: name, last: name.optional() }))).toMatchObject({
      properties: { first: { $ref: "#/$defs/Name" }, last: { $ref: "#/$defs/Name" } },
      $defs: { Name: { type: "string", description: "A name" } },
    });
  });
});

test("importing the contract builds no inputs and outputs", async () => {
  const program = `
    import { served } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    const endpoints = Object.values(served).flatMap((noun) => Object.values(noun));
    const schemas = endpoints.flatMap(({ query, body, output }) => [query, body, output]).filter(Boolean);
    const built = schemas.filter((schema) => Object.hasOwn(schema, "_zod"));
    process.stdout.write(JSON.stringify({ all: schemas.length, built: built.length }));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  const { all, built } = JSON.parse(stdout) as { all: number; built: number };
  expect(all).toBeGreaterThan(300);
  expect(built).toBe(0);
});
