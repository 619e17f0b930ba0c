import { limits } from "./limits.ts";

/** Forms of a text with a number, by the plural categories of its language. */
export type PluralForms = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string };

/**
 * The texts that recipients meet, in English: on the pages and in the mail of this server. `{name}` stands for a value. The other
 * languages are in the server's `html/texts`; a brand may replace each of them.
 */
export const RECIPIENT_TEXTS = {
  unnamedSender: "this sender",
  language: "Language",
  emailAddress: "Email address",
  firstName: "First name",
  lastName: "Last name",
  phone: "Phone number",

  unsubscribe: "Unsubscribe",
  stopQuestion: "Stop marketing email from {sender} to {address}?",
  enterAddress: "Enter your email address to stop marketing email from {sender}.",
  unsubscribedTitle: "You're unsubscribed",
  unsubscribedText: "{address} will no longer receive marketing email from {sender}.",
  mistake: "Was that a mistake?",
  subscribeAgain: "Subscribe again",
  resubscribedTitle: "You're subscribed again",
  resubscribedText: "{address} receives marketing email from {sender} again.",

  preferencesTitle: "Email preferences",
  preferencesQuestion: "Choose what {address} receives from {sender}.",
  lists: "Lists",
  savePreferences: "Save preferences",
  stopAll: "Or stop all marketing email from {sender}.",
  unsubscribeAll: "Unsubscribe from all",
  savedTitle: "Your preferences are saved",
  savedNone: "{address} is on none of these lists any more.",
  savedSome: { one: "{address} is on this list:", other: "{address} is on these lists:" },
  changeMore: "Change something else",

  confirmSubject: "Confirm your subscription to {list}",
  confirmTitle: "Confirm your subscription",
  confirmText: "Please confirm that you want to receive email from this list:",
  confirmButton: "Confirm subscription",
  confirmQuestion: "Subscribe {address} to {list}?",
  ignoreEmail: "If you didn't ask for this, ignore this email.",
  closePage: "If you didn't ask for this, close this page.",
  subscribedTitle: "You're subscribed",
  subscribedText: "{address} is on the list {list}. You can close this page.",
  expiresInDays: { one: "This link expires in {count} day.", other: "This link expires in {count} days." },

  senderSubject: "Confirm {address} as a sender",
  senderTitle: "Confirm sender address",
  senderText: "{asker} asks to send email from this address:",
  senderButton: "Confirm this address",
  senderNote: "If you don't know why, ignore this email. No email can be sent from the address without your confirmation.",
  senderQuestion: "{asker} asks to send email from {address}. Allow it?",
  senderConfirmedTitle: "Sender address confirmed",
  senderConfirmedText: "Email can now be sent from {address}. You can close this page.",
  somebodyAt: "Somebody at {host}",

  signUp: "Sign up",
  leaveEmpty: "Leave this empty",
  consent: "By signing up, you agree to receive email from {sender}. You can unsubscribe at any time.",
  thanksTitle: "Thank you",
  thanksDone: "You're signed up.",
  thanksAlmost: "You're almost done.",
  thanksConfirm: "Please confirm your subscription with the link in the email we've sent you.",
  download: "Download {file}",
  wrongEmail: "Please enter a valid email address, like ada@example.com.",
  wrongTooLong: "This is too long. Please shorten it.",
  wrongLine: "Please enter this again, in one line.",
  wrongTwice: "This field was sent more than once. Please enter it once.",
  wrongConsent: "Please tick this box to continue.",

  linkTitle: "This link does not work",
  linkIncomplete: "It is incomplete or was changed. Please copy it completely from the email.",
  linkConfirm: "It is invalid or has expired. Ask for another confirmation email.",
  linkDownload: "It is invalid or has expired. Sign up again to get a new one.",
  linkSender: "It is invalid, or the sender was removed. Ask for another confirmation email.",
  mailTitle: "This email is not available",
  mailText: "It is no longer kept, or was never sent.",
  notFoundTitle: "Page not found",
  notFoundText: "It may have been removed.",
  tooLargeTitle: "That is too large",
  tooLargeText: "Please shorten what you entered.",
  waitTitle: "Please wait a moment",
  waitText: "You've sent this form too often. Please try again in a moment.",
  unavailableTitle: "Unavailable at the moment",
  unavailableText: "Please try again shortly.",
  errorTitle: "Something went wrong",
  errorText: "Please try again.",
  reference: "Reference: {id}",
} as const satisfies Readonly<Record<string, string | PluralForms>>;

export type TextKey = keyof typeof RECIPIENT_TEXTS;

export const TEXT_KEYS = Object.keys(RECIPIENT_TEXTS) as TextKey[];

/** The languages that this server speaks to recipients. */
export const RECIPIENT_LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ar", "ja", "zh"] as const;
export type RecipientLanguage = (typeof RECIPIENT_LANGUAGES)[number];

export const TEXT_LIMITS = limits("brand", "A brand's own texts for recipients", {
  text: [500, "a text", "characters"],
  languages: [50, "languages"],
});

/** The values of a text: `address` and `sender` of "Stop marketing email from {sender} to {address}?" */
export function listPlaceholders(text: string | PluralForms): string[] {
  const all = typeof text === "string" ? text : Object.values(text).join(" ");
  return [...new Set([...all.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string))];
}
