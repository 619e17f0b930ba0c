import { type Agent, type AgentOptions, createAgent } from "@mailsvc/agent-kit";

/** Price of a page for the brand, in credits. */
export const PRICE = 5;

/** An agent that drafts a landing page for each brand, asks for approval, publishes the page and reports it. */
export function createPublisher(options: AgentOptions): Agent {
  const agent = createAgent(options);

  agent.on("agent.activated", (ctx) =>
    ctx.run({ title: "Launch page" }, async (run) => {
      run.log("Drafting the page");
      const page = await run.step("draft", ({ idempotencyKey }) =>
        run.client.landingPages.create(
          { title: `Welcome to ${ctx.event.organizationName}`, html: "<h1>Welcome</h1><form></form>", runId: run.id },
          { idempotencyKey },
        ),
      );
      await run.credits("draft-page", { amount: PRICE });
      run.progress(60, "Draft ready");

      const { approved, comment } = await run.approval("publish", {
        title: "Publish the launch page?",
        text: "The page is ready. I would publish it today.",
        preview: { kind: "landing_page", id: page.id },
      });
      if (!approved) return { summary: `Not published. ${comment ?? ""}`.trim() };

      const { url } = await run.step("publish-page", ({ idempotencyKey }) => run.client.landingPages.publish(page.id, { idempotencyKey }));
      await run.step("report", ({ idempotencyKey }) =>
        run.client.messages.create({ text: `The page is online: ${url}`, runId: run.id, externalId: idempotencyKey }),
      );
      return { summary: "Published.", output: { url } };
    }),
  );

  agent.on("message.posted", (ctx) =>
    ctx.client.messages.create({ text: "Noted. I will keep it in mind for the next page.", externalId: `reply-${ctx.event.messageId}` }),
  );

  return agent;
}
