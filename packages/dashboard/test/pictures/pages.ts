import type { Page } from "playwright-core";
import type { Acme } from "./acme.ts";

/** Picture of a page. */
interface PictureOf {
  /** Alternative text. */
  readonly words: string;
  /** The path of the page below /dashboard. */
  readonly at: (acme: Acme) => string;
  /** A text that is there once the page is loaded. */
  readonly text: string;
  /** True for a page of builders of agents. */
  readonly builder?: true;
  /** Waits for what is loaded after the text, or does what the picture needs. */
  readonly ready?: (page: Page) => Promise<void>;
}

const mail = async (page: Page): Promise<void> => page.frameLocator("iframe").getByRole("link").first().waitFor();
const chart = async (page: Page): Promise<void> => page.locator("main :is(canvas, .plot)").first().waitFor({ state: "attached" });
const pictures = async (page: Page): Promise<void> => {
  await page.locator("main img").first().waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll<HTMLImageElement>("main img")].every((image) => image.complete));
};
// A phone shows the same steps as a list.
const graph = async (page: Page): Promise<void> => page.locator(".flow-graph .step, .flow-list").first().waitFor();

/** The pictures, by the path of the route, in the order of the navigation. */
export const PICTURES: Readonly<Record<string, PictureOf>> = {
  "/overview": {
    words: "Overview: what needs a person, what is under way, and the mail of a month by day and by receiving domain",
    at: () => "/overview",
    text: "By receiving domain",
    ready: chart,
  },
  "/activity": { words: "Activity: what was sent, newest first, with its state", at: () => "/activity", text: "New in January" },
  "/activity/:id": {
    words: "One email: its HTML, and beside it what happened, from the request to the click",
    at: ({ email }) => `/activity/${email}`,
    text: "Timeline",
    ready: mail,
  },
  "/mail-states": {
    words: "Mail as support sees it: to whom, from where, in which state",
    at: () => "/mail-states",
    text: "Accepted",
  },
  "/mail-states/:id": {
    words: "One mail as support sees it: its way and the words of the receiving server",
    at: ({ bounced }) => `/mail-states/${bounced}`,
    text: "What happened",
  },
  "/inbox": { words: "The inbox of captured mail", at: () => "/inbox", text: "Choose a mail to read it" },
  "/inbox/:id": {
    words: "A captured mail as its reader sees it",
    at: ({ captured }) => `/inbox/${captured}`,
    text: "What happened",
    ready: mail,
  },
  "/received": { words: "Received mail: answers of people and of programs", at: () => "/received", text: "Re: How was it?" },
  "/received/:id": {
    words: "A conversation: our mail, the answer of its reader, and our answer to that",
    at: ({ received }) => `/received/${received}`,
    text: "Where shall it go?",
  },
  "/campaigns": { words: "Campaigns with their state, audience and results", at: () => "/campaigns", text: "January news" },
  "/campaigns/:id": {
    words: "The report of a campaign: its figures, and opens and clicks over time",
    at: ({ campaign }) => `/campaigns/${campaign}`,
    text: "Accepted",
    ready: chart,
  },
  "/campaigns/:id/edit": {
    words: "The editor of a draft, with a preview that shows the mail as a contact gets it",
    at: ({ draft }) => `/campaigns/${draft}/edit`,
    text: "if you send it now",
    ready: mail,
  },
  "/campaigns/:id/review": {
    words: "The review before sending: who gets the campaign, when, and what lint objects to",
    at: ({ draft }) => `/campaigns/${draft}/review`,
    text: "What will happen",
  },
  "/automations": { words: "Automations with what makes contacts enter", at: () => "/automations", text: "Welcome series" },
  "/automations/:id": {
    words: "An automation as a graph, with how many contacts came to each step",
    at: ({ automation }) => `/automations/${automation}`,
    text: "Send",
    ready: graph,
  },
  "/automations/:id/edit": {
    words: "The editor of an automation: its steps as a form, and the graph they make",
    at: ({ automation }) => `/automations/${automation}/edit`,
    text: "Dry run",
    ready: graph,
  },
  "/automations/:id/entries/:contact": {
    words: "The path of one contact through an automation, step by step",
    at: ({ automation, entered }) => `/automations/${automation}/entries/${entered}`,
    text: "The path",
    ready: graph,
  },
  "/contacts": { words: "Contacts with search and filters", at: () => "/contacts", text: "viktor.lindqvist@example.com" },
  "/contacts/:id": {
    words: "One contact: fields, lists, segments and timeline",
    at: ({ amara }) => `/contacts/${amara}`,
    text: "Newsletter",
  },
  "/contacts/import": { words: "The import of a file: choose or drop it", at: () => "/contacts/import", text: "Choose a file" },
  "/lists": { words: "Lists with their numbers of members", at: () => "/lists", text: "Product news" },
  "/lists/:id": { words: "One list and its members", at: ({ newsletter }) => `/lists/${newsletter}`, text: "21 members" },
  "/forms": { words: "Sign-up forms", at: () => "/forms", text: "Letters from Acme" },
  "/forms/:id": {
    words: "One form: its page, its HTML, its numbers and its newest sign-ups",
    at: ({ form }) => `/forms/${form}`,
    text: "you agree",
  },
  "/segments": { words: "Segments with their numbers of people", at: () => "/segments", text: "Growing customers" },
  "/segments/:id": {
    words: "The rule of a segment as conditions, and beside it who matches",
    at: ({ segment }) => `/segments/${segment}?tab=rules`,
    text: "people match",
  },
  "/segments/new": { words: "A new segment before its first condition", at: () => "/segments/new", text: "Complete the conditions" },
  "/suppressions": { words: "Suppressed addresses, and why", at: () => "/suppressions", text: "press@example.org" },
  "/suppressions/:id": {
    words: "One suppressed address, with the email that caused it",
    at: ({ suppression }) => `/suppressions/${suppression}`,
    text: "Your order 1043",
  },
  "/templates": { words: "Templates with their kind and version", at: () => "/templates", text: "Order shipped" },
  "/templates/:id": {
    words: "The editor of a template beside its preview, with what lint objects to",
    at: ({ template }) => `/templates/${template}`,
    text: "Versions",
    ready: async (page) => {
      await page.locator(".cm-content").waitFor();
      await page.frameLocator('iframe[title="The preview"]').frameLocator("iframe").getByText("It has left our house").first().waitFor();
    },
  },
  "/templates/:id/versions/:version": {
    words: "A published version of a template",
    at: ({ template }) => `/templates/${template}/versions/1`,
    text: "Difference to the draft",
  },
  "/pictures": { words: "The library of pictures", at: () => "/pictures", text: "Tulips before our shop", ready: pictures },
  "/pictures/:id": {
    words: "One picture with its address for mail",
    at: ({ picture }) => `/pictures/${picture}`,
    text: "600 × 300",
    ready: pictures,
  },
  "/brand": {
    words: "The brand: name and logo, colors and fonts, voice, texts for recipients",
    at: () => "/brand",
    text: "Language and texts",
    ready: pictures,
  },
  "/approvals": { words: "Approvals that agents wait for", at: () => "/approvals", text: "Use this subject?" },
  "/agents": { words: "The agents that are turned on", at: () => "/agents", text: "Launch Writer" },
  "/agents/:id": {
    words: "The conversation with an agent, which asks for an approval",
    at: ({ activation }) => `/agents/${activation}`,
    text: "Please mention the summer sale as well.",
  },
  "/agents/:id/runs/:run": {
    words: "A run of an agent: its progress and its log",
    at: ({ activation, run }) => `/agents/${activation}/runs/${run}`,
    text: "Read the brand",
  },
  "/catalog": { words: "The catalog of agents", at: () => "/catalog", text: "Page Painter" },
  "/catalog/:slug": {
    words: "An agent in the catalog: what it does, and what it asks for",
    at: () => "/catalog/page-painter",
    text: "Read brand colors, logo and voice",
  },
  "/install/:slug": {
    words: "The consent that an install link asks for",
    at: () => "/install/page-painter",
    text: "Read brand colors, logo and voice",
  },
  "/landing-pages": { words: "Landing pages that agents made", at: () => "/landing-pages", text: "Spring guide" },
  "/landing-pages/:id": {
    words: "One landing page: its address, its numbers and its newest sign-ups",
    at: ({ landingPage }) => `/landing-pages/${landingPage}`,
    text: "I agree that Acme",
  },
  "/lead-magnets": { words: "Lead magnets: files that people get for signing up", at: () => "/lead-magnets", text: "The spring guide" },
  "/lead-magnets/:id": {
    words: "One lead magnet, and the pages that offer it",
    at: ({ magnet }) => `/lead-magnets/${magnet}`,
    text: "Spring guide",
  },
  "/plan": { words: "The plan: how many agents it covers, and how many are turned on", at: () => "/plan", text: "Three agents" },
  "/credits": { words: "Credits: the balance and what was spent", at: () => "/credits", text: "400 words" },
  "/listings": { words: "The listings of a builder", at: () => "/listings", text: "Launch Writer", builder: true },
  "/listings/:slug": {
    words: "The editor of a listing",
    at: () => "/listings/launch-writer",
    text: "Permissions the agent needs",
    builder: true,
  },
  "/listings/:slug/deliveries/:id": {
    words: "The delivery of an event to an agent, with its attempts",
    at: ({ listingDelivery }) => `/listings/launch-writer/deliveries/${listingDelivery}`,
    text: "Attempt 1",
    builder: true,
  },
  "/new-listing": { words: "A new listing", at: () => "/new-listing", text: "Create the draft", builder: true },
  "/events": { words: "The stream of events", at: () => "/events", text: "email." },
  "/events/:id": { words: "One event as JSON", at: ({ event }) => `/events/${event}`, text: "Happened" },
  "/webhooks": { words: "Webhooks and whether they answer", at: () => "/webhooks", text: "/bounces" },
  "/webhooks/:id": { words: "One webhook with its deliveries", at: ({ webhook }) => `/webhooks/${webhook}`, text: "email.bounced" },
  "/webhooks/:id/:delivery": {
    words: "A delivery that fails: each attempt with its answer",
    at: ({ webhook, delivery }) => `/webhooks/${webhook}/${delivery}`,
    text: "Attempt 1",
  },
  "/requests": { words: "Requests of programs, with their answers", at: () => "/requests", text: "/api/v1/" },
  "/keys/:id": { words: "One API key: what it may do, and who changed it", at: ({ key }) => `/keys/${key}`, text: "Who did what" },
  "/keys": { words: "API keys with what each may do", at: () => "/keys", text: "Shop" },
  "/dev": { words: "Clock, faults and snapshots of dev mode", at: () => "/dev", text: "before-the-campaign" },
  "/queue": { words: "The queue, and mail that is held", at: () => "/queue", text: "Oldest due" },
  "/relays": { words: "Relays with their state", at: () => "/relays", text: "eu-west" },
  "/relays/:name": { words: "One relay: its settings and its state", at: () => "/relays/eu-west", text: "Settings" },
  "/workspaces": { words: "The workspaces of the server", at: () => "/workspaces", text: "Replies" },
  "/senders": { words: "Senders and whether they are verified", at: () => "/senders", text: "shop.acme.example" },
  "/senders/:id": {
    words: "One sender with the DNS records to publish",
    at: ({ sender }) => `/senders/${sender}`,
    text: "DNS of shop.acme.example",
  },
  "/inbound-domains": { words: "Domains whose mail is received", at: () => "/inbound-domains", text: "in.acme.example" },
  "/people": { words: "Who may sign in, with roles, invitations and links", at: () => "/people", text: "Nora Keller" },
  "/audit": { words: "The audit log: who changed what", at: () => "/audit", text: "Summer sale" },
};

/** Viewports and color schemes of the pictures. */
export const VIEWS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light", scale: 0.75 },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark", scale: 0.75 },
  phone: { viewport: { width: 390, height: 780 }, colorScheme: "light", scale: 1 },
} as const;

/** The name of the files of a route: `/templates/:id/versions/:version` is `templates-id-versions-version`. */
export function nameFile(route: string): string {
  return route.slice(1).replaceAll(/\/:?/g, "-");
}

/** The page of the documentation that shows them all. */
export function buildGallery(): string {
  const sections = Object.entries(PICTURES).map(([route, { words }]) => {
    const source = (view: keyof typeof VIEWS): string => `./pictures/dashboard/${nameFile(route)}-${view}.webp`;
    return [
      `## ${words.split(/[:,]/)[0]}`,
      "",
      `${words}.`,
      "",
      "<p>",
      "  <picture>",
      `    <source media="(prefers-color-scheme: dark)" srcset="${source("dark")}">`,
      `    <img src="${source("light")}" alt="${words}" width="600">`,
      "  </picture>",
      `  <img src="${source("phone")}" alt="The same on a phone" width="195">`,
      "</p>",
      "",
    ].join("\n");
  });
  return [
    "# Pictures of the dashboard",
    "",
    "Every page of the [dashboard](dashboard.md), on a desktop in the colors that you prefer, and on a phone. `npm run screenshots` makes them",
    "anew, from the same data at the same instant.",
    "",
    ...sections,
  ].join("\n");
}
