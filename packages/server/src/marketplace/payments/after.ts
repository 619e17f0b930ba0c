import type { PublicPage } from "../../http/public-pages.ts";
import { simplePage } from "../../lib/html.ts";

/** Where a provider sends people when they are done with a checkout. */
export const AFTER = { paid: "/paid", unpaid: "/unpaid" } as const;

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/** What people see after a checkout. The pages know nothing: whether it is paid, the provider tells us and not the browser. */
export const paymentPages: readonly PublicPage[] = [
  page(
    AFTER.paid,
    "Thank you",
    "The listing is in the catalog as soon as the payment is confirmed: mostly within a minute, with some ways of paying after days. You may close this page.",
  ),
  page(AFTER.unpaid, "Nothing was paid", "The checkout stays open for a day: its address is the same until then. You may close this page."),
];

function page(path: PublicPage["path"], title: string, text: string): PublicPage {
  return {
    path,
    methods: ["GET"],
    serve: async () => ({
      status: 200,
      headers: [
        ["content-type", "text/html; charset=utf-8"],
        ["content-security-policy", POLICY],
        ["cache-control", "no-store"],
        ["x-robots-tag", "noindex"],
      ],
      body: simplePage(title, `<p>${text}</p>`),
    }),
  };
}
