import type { PublicPage } from "../../http/public/public-pages.ts";
import { simplePage } from "../../lib/html.ts";

/** Where the provider sends people after a checkout. */
export const RETURN_PATHS = { paid: "/paid", unpaid: "/unpaid" } as const;

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/**
 * The pages people see after a checkout. They do not read the payment: the provider's webhook confirms it, never the browser.
 */
export const returnPages: readonly PublicPage[] = [
  page(
    RETURN_PATHS.paid,
    "Thank you",
    "We will put your listing in the catalog as soon as the payment is confirmed. This usually takes less than a minute; some payment methods take a few days. You may close this page.",
  ),
  page(
    RETURN_PATHS.unpaid,
    "You have not been charged",
    "Your checkout stays open at the same address for one day, in case you want to come back to it. You may close this page.",
  ),
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
