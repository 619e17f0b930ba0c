import { type Agent, type AgentOptions, createAgent } from "@mailsvc/agent-kit";

/** An agent that greets each brand, proposes a campaign that a person may send, and answers messages. */
export function createHelloAgent(options: AgentOptions = {}): Agent {
  return createAgent(options)
    .on("agent.activated", (ctx) =>
      ctx.run({ title: "Say hello" }, async (run) => {
        const brand = ctx.event.organizationName;
        // With its own id, a message that is sent again after a crash is still one message.
        await run.client.messages.create({ text: `Hello ${brand}, I am ready.`, externalId: `hello-${run.id}` });
        // The wait holds nothing: the answer continues the run, after days if it must be, also over a restart.
        const { decision } = await run.proposeCampaign("greeting", {
          title: "Greet your readers?",
          text: "I wrote a greeting. You see it as your readers would, and choose whether it is sent.",
          campaign: {
            name: "Greeting",
            subject: 'Hello {{default firstName "there"}}',
            previewText: "Good to have you here",
            html: `<h1>Hello {{default firstName "there"}}</h1><p>Good to have you here. You will hear from us when there is something worth your time.</p>`,
          },
        });
        return { summary: `Said hello; the greeting was ${decision}.` };
      }),
    )
    .on("message.posted", (ctx) =>
      ctx.client.messages.create({ text: `You wrote: ${ctx.event.text}`, externalId: `reply-${ctx.event.messageId}` }),
    )
    .onError((error, { key, attempt }) => console.error(`${key}, attempt ${attempt}:`, error));
}
