import { type Agent, type AgentOptions, createAgent } from "@mailsvc/agent-kit";

/** An agent that greets each brand and answers its messages. */
export function createHelloAgent(options: AgentOptions = {}): Agent {
  return createAgent(options)
    .on("agent.activated", (ctx) =>
      ctx.run({ title: "Say hello" }, async (run) => {
        // With its own id, a message that is sent again after a crash is still one message.
        const text = `Hello ${ctx.event.organizationName}, I am ready.`;
        await run.client.messages.create({ text, externalId: `hello-${run.id}` });
        return { summary: "Said hello." };
      }),
    )
    .on("message.posted", (ctx) =>
      ctx.client.messages.create({ text: `You wrote: ${ctx.event.text}`, externalId: `reply-${ctx.event.messageId}` }),
    )
    .onError((error, { key, attempt }) => console.error(`${key}, attempt ${attempt}:`, error));
}
