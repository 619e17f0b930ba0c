interface Price {
  /** In cents. */
  readonly amount: number;
  readonly currency: string;
}

/** An amount of money, such as $29. */
export function formatMoney({ amount, currency }: Price): string {
  const whole = amount % 100 === 0 ? { minimumFractionDigits: 0 } : {};
  return new Intl.NumberFormat(undefined, { style: "currency", currency, ...whole }).format(amount / 100);
}

/** Describes the price a brand pays for an agent. */
export function describePrice(price: Price): string {
  return price.amount === 0 ? "Free, plus the credits it spends" : `${formatMoney(price)} a month, plus the credits it spends`;
}
