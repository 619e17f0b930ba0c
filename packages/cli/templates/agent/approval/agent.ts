import { type Agent, type AgentOptions, createAgent } from "@mailsvc/agent-kit";

/** An agent that asks each brand before it begins, and answers its messages. */
export function createHelloAgent(options: AgentOptions = {}): Agent {
  return createAgent(options)
    .on("agent.activated", (ctx) =>
      ctx.run({ title: "Ask to begin" }, async (run) => {
        // The wait holds nothing: the request ends here, and the answer continues the run, after days if it must be.
        const { approved } = await run.approval("begin", {
          title: "May I begin?",
          text: `Hello ${ctx.event.organizationName}, I am ready.`,
        });
        const text = approved ? "Thank you, I begin." : "Then I wait for a message of yours.";
        // With its own id, a message that is sent again after a crash is still one message.
        await run.client.messages.create({ text, externalId: `begin-${run.id}` });
        return { summary: approved ? "The brand said yes." : "The brand said no." };
      }),
    )
    .on("message.posted", (ctx) =>
      ctx.client.messages.create({ text: `You wrote: ${ctx.event.text}`, externalId: `reply-${ctx.event.messageId}` }),
    )
    .onError((error, { key, attempt }) => console.error(`${key}, attempt ${attempt}:`, error));
}
