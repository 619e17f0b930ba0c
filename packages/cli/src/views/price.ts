/** An amount of cents with its currency: `29.00 USD`. */
export function formatPrice({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  return `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`;
}
