/** Party that can remove the cause of a refusal. */
type Party = "address" | "recipient" | "domain" | "reputation" | "relay" | "content" | "nobody";

/**
 * A reply's meaning for the mailbox: it is gone and gets no more mail; it is in trouble for now, and counts as gone if that lasts; or the
 * reply is about something else.
 */
type Mailbox = "gone" | "trouble" | "untouched";

/** Meaning of a refusal by a mail server, with a remedy. */
export interface Refusal {
  readonly party: Party;
  readonly mailbox: Mailbox;
  /** Meaning of the reply, in plain words. */
  readonly meaning: string;
  /** Advice for the sender; null if waiting is all that helps. */
  readonly remedy: string | null;
}

const AUTHENTICATE =
  "Publish SPF and DKIM for the domain of From, let one of them be of that domain, and add a DMARC record: docs/deliverability.md has the records.";

export const noMailbox: Refusal = {
  party: "address",
  mailbox: "gone",
  meaning: "The mailbox does not exist.",
  remedy: "Correct the address, or leave it out: sending to dead mailboxes harms your reputation.",
};
export const noDomain: Refusal = {
  party: "address",
  mailbox: "gone",
  meaning: "The domain of the address does not exist or takes no mail.",
  remedy: "Correct the part after the @: it is often misspelt.",
};
export const deniedByOutlook: Refusal = {
  party: "recipient",
  mailbox: "gone",
  meaning: "Access denied: of Outlook and Microsoft 365 this means that the mailbox is unknown there, or takes no mail from outside.",
  remedy: "Check the address with the recipient.",
};
export const disabled: Refusal = {
  party: "recipient",
  mailbox: "gone",
  meaning: "The mailbox exists, but is disabled.",
  remedy: "Leave the address out.",
};
export const full: Refusal = { party: "recipient", mailbox: "trouble", meaning: "The mailbox is full.", remedy: null };
export const tooLarge: Refusal = {
  party: "content",
  mailbox: "untouched",
  meaning: "The message is larger than the other side accepts.",
  remedy: "Link to large files instead of attaching them.",
};
export const unavailable: Refusal = {
  party: "recipient",
  mailbox: "untouched",
  meaning: "The mail server of the recipient is overloaded or out of order.",
  remedy: null,
};
const unreachable: Refusal = {
  party: "recipient",
  mailbox: "trouble",
  meaning: "The mail server of the recipient could not be reached.",
  remedy: "If it never can be, the part of the address after the @ may be misspelt.",
};
const loop: Refusal = {
  party: "recipient",
  mailbox: "trouble",
  meaning: "The mail went round in circles on the side of the recipient.",
  remedy: null,
};
export const greylisted: Refusal = {
  party: "nobody",
  mailbox: "untouched",
  meaning: "Greylisting: the first attempt of an unknown sender is refused for a while, and a later one accepted.",
  remedy: null,
};
export const tooFast: Refusal = {
  party: "reputation",
  mailbox: "untouched",
  meaning: "Too much mail came at once from your address or domain.",
  remedy: "Send more slowly: set a throttle for campaigns, and warm a new domain up over some weeks.",
};
export const relaying: Refusal = {
  party: "relay",
  mailbox: "untouched",
  meaning:
    "Your mail server does not relay for this sender: it refused the recipient because you are not signed in, or not allowed to use it.",
  remedy: "Check user name and password in --smtp-url, and that the account may send as the address in From.",
};
export const noReverseName: Refusal = {
  party: "relay",
  mailbox: "untouched",
  meaning: "The IP address that sends has no reverse DNS name, or one that does not lead back to it.",
  remedy: "Set a PTR record for the address and an A record for its name; with a relay of others, tell its operator.",
};
export const sender: Refusal = {
  party: "domain",
  mailbox: "untouched",
  meaning: "The other side does not accept the address of the sender.",
  remedy: "Check From and the domain of the sender: it must exist and take mail.",
};
export const spam: Refusal = {
  party: "content",
  mailbox: "untouched",
  meaning: "The message was taken for spam.",
  remedy: "Look at links, words and the text part (mailsvc lint), and send only to people who asked for it.",
};
export const blocked: Refusal = {
  party: "reputation",
  mailbox: "untouched",
  meaning: "The address or domain that sends is on a block list.",
  remedy: "Find the list in the reply and ask for removal once you know what caused it; with a relay of others, ask its operator.",
};
export const banned: Refusal = { ...blocked, meaning: "Outlook has blocked the IP address that sends." };
export const policy: Refusal = {
  party: "reputation",
  mailbox: "untouched",
  meaning: "A rule of the other side forbids it; 5.7.1 stands for many of them, and the words of the reply tell which one.",
  remedy: "Read the reply. Most often the sender may not use this server, is blocked, or the message looks like spam.",
};
export const unauthenticated: Refusal = {
  party: "domain",
  mailbox: "untouched",
  meaning: "The sender could not be authenticated: neither SPF nor DKIM passed for the domain of From, as Gmail, Outlook and Yahoo demand.",
  remedy: AUTHENTICATE,
};
export const dmarc: Refusal = {
  party: "domain",
  mailbox: "untouched",
  meaning: "The mail failed DMARC, and the policy of the domain in From asks to reject such mail.",
  remedy: AUTHENTICATE,
};

/** By enhanced code; without its first digit where the class makes no difference, and by the subject alone. */
export const BY_CODE: Readonly<Record<string, Refusal>> = {
  "1": noMailbox,
  "1.0": { party: "address", mailbox: "untouched", meaning: "Something is wrong with the address.", remedy: "Check the address." },
  "1.1": noMailbox,
  "1.2": noDomain,
  "1.3": { party: "address", mailbox: "gone", meaning: "The address is not well formed.", remedy: "Correct the address." },
  "1.6": {
    party: "address",
    mailbox: "gone",
    meaning: "The mailbox has moved without a new address.",
    remedy: "Ask the recipient for the new address.",
  },
  "1.7": { party: "domain", mailbox: "untouched", meaning: "The address of the sender is not well formed.", remedy: "Correct From." },
  "1.8": {
    party: "domain",
    mailbox: "untouched",
    meaning: "The domain of the sender has no DNS records: it takes no mail.",
    remedy: "Add an MX or A record to the domain of From.",
  },
  "1.10": {
    party: "address",
    mailbox: "gone",
    meaning: "The domain states that it takes no mail (null MX).",
    remedy: "Correct the address.",
  },
  "2": { party: "recipient", mailbox: "trouble", meaning: "Something is wrong with the mailbox.", remedy: null },
  "2.0": { party: "recipient", mailbox: "trouble", meaning: "Something is wrong with the mailbox.", remedy: null },
  "2.1": disabled,
  "2.2": full,
  "2.3": tooLarge,
  "3": unavailable,
  "3.4": tooLarge,
  "4": unreachable,
  "4.1": unreachable,
  "4.4": unreachable,
  "4.6": loop,
  "4.14": loop,
  "5": {
    party: "relay",
    mailbox: "untouched",
    meaning: "The two mail servers did not understand each other.",
    remedy: "Check the mail server in --smtp-url.",
  },
  "6.3": {
    party: "content",
    mailbox: "untouched",
    meaning: "The message has 8-bit bytes, which the mail server does not take (8BITMIME).",
    remedy: "Let the program that writes the message encode its texts as quoted-printable or base64, or use a relay that offers 8BITMIME.",
  },
  "6.7": {
    party: "address",
    mailbox: "untouched",
    meaning: "The address has characters beyond ASCII, which the mail server does not take (SMTPUTF8).",
    remedy: "Use an address in ASCII.",
  },
  "6": { party: "content", mailbox: "untouched", meaning: "The other side could not use the content of the message.", remedy: null },
  "7": policy,
  "4.7.0": tooFast,
  "4.7.28": tooFast,
  "7.1": policy,
  "7.8": {
    party: "relay",
    mailbox: "untouched",
    meaning: "Your mail server refused the user name or password.",
    remedy: "Correct them in --smtp-url.",
  },
  "7.9": {
    party: "domain",
    mailbox: "untouched",
    meaning:
      "Refused for a policy: of Yahoo and AOL this means that the mail failed DMARC; of other servers, that the way to sign in is too weak.",
    remedy: AUTHENTICATE,
  },
  "7.13": {
    party: "relay",
    mailbox: "untouched",
    meaning: "Your account at the mail server is disabled.",
    remedy: "Ask the operator of the mail server.",
  },
  "7.20": { ...unauthenticated, meaning: "No DKIM signature passed." },
  "7.21": { ...unauthenticated, meaning: "No DKIM signature was acceptable." },
  "7.22": { ...unauthenticated, meaning: "No DKIM signature is of the domain in From." },
  "7.23": { ...unauthenticated, meaning: "SPF failed: the domain does not allow this server to send for it." },
  "7.24": { ...unauthenticated, meaning: "SPF could not be checked: the record of the domain has an error." },
  "7.25": noReverseName,
  "7.26": unauthenticated,
  "7.27": { ...unauthenticated, meaning: "SPF did not pass for the domain that sends." },
  "7.28": tooFast,
  "7.29": {
    party: "relay",
    mailbox: "untouched",
    meaning: "The other side takes mail only over TLS.",
    remedy: "Let the mail server in --smtp-url use TLS.",
  },
  "7.30": { ...unauthenticated, meaning: "DKIM did not pass for the domain that sends." },
  "7.57": relaying,
  "7.60": { ...relaying, meaning: "The account at your mail server may not send as the address in From." },
  "7.64": relaying,
  "7.133": {
    party: "recipient",
    mailbox: "untouched",
    meaning: "The mailbox or group takes mail only from inside its organization.",
    remedy: "Ask the recipient to allow senders from outside.",
  },
  "7.509": dmarc,
  "7.511": banned,
  "7.515": {
    party: "domain",
    mailbox: "untouched",
    meaning:
      "Outlook demands SPF, DKIM and DMARC of domains that send it more than 5,000 mails a day, all of them passing and aligned with From; yours did not.",
    remedy: AUTHENTICATE,
  },
  "7.708": { ...blocked, meaning: "Microsoft refuses mail of your tenant for its reputation." },
};

/** By SMTP code, where nothing else says more. */
export const BY_SMTP_CODE: Readonly<Record<number, Refusal>> = {
  421: unavailable,
  450: {
    party: "recipient",
    mailbox: "untouched",
    meaning: "The mailbox is not available now: it is busy, or the first attempt is refused for a while.",
    remedy: null,
  },
  451: unavailable,
  452: full,
  535: {
    party: "relay",
    mailbox: "untouched",
    meaning: "Your mail server refused the user name or password.",
    remedy: "Correct them in --smtp-url.",
  },
  550: policy,
  552: full,
  553: {
    party: "address",
    mailbox: "untouched",
    meaning: "The mail server does not accept this address.",
    remedy: "Check From and the recipient's address.",
  },
  554: policy,
};
