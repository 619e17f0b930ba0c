/** People of one import request. */
export const PERSONS_PER_REQUEST = 1000;

interface Person {
  email: string;
  firstName: string;
  lastName: string;
  tags: string[];
  customFields: Record<string, string | number>;
}

const SYLLABLES = [
  "an",
  "bel",
  "cor",
  "da",
  "el",
  "fi",
  "gra",
  "ho",
  "is",
  "jo",
  "ka",
  "lu",
  "mi",
  "no",
  "or",
  "pe",
  "ri",
  "sa",
  "té",
  "va",
];

/** The i-th of any number of people: fifty first names, a thousand last names, every hundredth a vip. */
export function personAt(i: number): Person {
  const firstName = name((i * 37) % 50, 2);
  const lastName = name((i * 7919) % 1000, 3);
  const mailbox = `${firstName}.${lastName}${i.toString(36)}`.toLowerCase().replaceAll("é", "e");
  return {
    email: `${mailbox}@${["example.com", "mail.test", "acme.dev"][i % 3]}`,
    firstName,
    lastName,
    tags: [`group ${i % 50}`, ...(i % 100 === 7 ? ["vip"] : [])],
    customFields: { plan: i % 5 === 0 ? "pro" : "free", seats: i % 17 },
  };
}

function name(i: number, n: number): string {
  let text = "";
  for (let rest = i, k = 0; k < n; k += 1) {
    text += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length) + 7 * (k + 1);
  }
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
