import { renderMessage, toPrivateResponse } from "../../html/page.ts";
import type { PublicPage } from "../../http/public/public-pages.ts";

/** Pages to which the provider sends people after a checkout. */
export const RETURN_PATHS = { paid: "/paid", unpaid: "/unpaid" } as const;

/**
 * The pages people see after a checkout. They do not read the payment: the provider's webhook confirms it, never the browser.
 */
export const returnPages: readonly PublicPage[] = [
  page(
    RETURN_PATHS.paid,
    "Thank you",
    "We will put your listing in the catalog as soon as the payment is confirmed. This usually takes less than a minute; some payment methods take a few days. You can close this page.",
  ),
  page(
    RETURN_PATHS.unpaid,
    "You have not been charged",
    "Your checkout stays open at the same address for one day, in case you want to come back to it. You can close this page.",
  ),
];

function page(path: PublicPage["path"], title: string, text: string): PublicPage {
  return {
    path,
    methods: ["GET"],
    // Rendered when asked for: the first page of a process costs 5 ms, which a start would pay.
    serve: async () => toPrivateResponse(renderMessage(title, `<p>${text}</p>`)),
  };
}
