/** The mail providers whose webhooks report bounces, complaints and deliveries. */
export const PROVIDERS = ["ses", "postmark", "sendgrid", "mailgun"] as const;
export type Provider = (typeof PROVIDERS)[number];
