import { getRequestListener } from "@hono/node-server";
import { expect, onTestFinished, test } from "vitest";
import { createWorld } from "../testing.ts";

test("a world answers after a framework has replaced the global Request and Response", async () => {
  const { Request, Response } = globalThis;
  onTestFinished(() => {
    Object.assign(globalThis, { Request, Response });
  });
  await using world = await createWorld();
  getRequestListener(() => new globalThis.Response("hello"));
  expect(globalThis.Response).not.toBe(Response);

  const { id } = await world.sdk.emails.send({ to: "ada@example.com", from: "hello@acme.test", subject: "Hello", text: "Hi" });
  expect(await world.sdk.emails.get(id)).toMatchObject({ to: "ada@example.com" });
  await expect(world.sdk.emails.get("em_unknown")).rejects.toMatchObject({ code: "not_found" });
  await expect(world.sdk.emails.send({ to: "nobody" } as never)).rejects.toMatchObject({ code: "validation_error" });
});
