import type { CatalogAgent } from "@mailsvc/sdk/contract";
import { LOCALE } from "../../browser.ts";

interface Price {
  /** In cents. */
  readonly amount: number;
  readonly currency: string;
}

/** An amount of money, such as $29. */
export function formatMoney({ amount, currency }: Price): string {
  const whole = amount % 100 === 0 ? { minimumFractionDigits: 0 } : {};
  return new Intl.NumberFormat(LOCALE, { style: "currency", currency, ...whole }).format(amount / 100);
}

/** Describes the price a brand pays for an agent: by the month, and credits if the agent may spend any. */
export function describePrice({ price, permissions }: Pick<CatalogAgent, "price" | "permissions">): string {
  const fixed = price.amount === 0 ? "Free" : `${formatMoney(price)} a month`;
  return permissions.some(({ scope }) => scope === "agent:consume_credits") ? `${fixed}, plus the credits it spends` : fixed;
}
