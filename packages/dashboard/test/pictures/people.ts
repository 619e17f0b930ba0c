/** The customers of Acme: first name, last name, company, plan, tags. */
const CUSTOMERS = [
  ["Amara", "Okafor", "Northwind Tea", "Team", "vip"],
  ["Jonas", "Berg", "Fjord Cycles", "Starter", "newsletter"],
  ["Priya", "Raman", "Lotus Press", "Business", "vip"],
  ["Mateo", "Alvarez", "Casa Verde", "Starter", "newsletter"],
  ["Hannah", "Weiss", "Weiss & Sons", "Team", "trial"],
  ["Liam", "Murphy", "Harbour Coffee", "Starter", "newsletter"],
  ["Yuki", "Tanaka", "Kumo Design", "Business", "vip"],
  ["Chloé", "Lambert", "Atelier Nord", "Team", "newsletter"],
  ["Omar", "Haddad", "Cedar Books", "Starter", "trial"],
  ["Ingrid", "Solberg", "Solberg Wool", "Team", "newsletter"],
  ["Daniel", "Novak", "Brightline Labs", "Business", "vip"],
  ["Sofia", "Rossi", "Forno Rossi", "Starter", "newsletter"],
  ["Ethan", "Cole", "Cole Carpentry", "Starter", "trial"],
  ["Wei", "Chen", "Jade Robotics", "Business", "vip"],
  ["Nadia", "Petrova", "Blue Door Dance", "Team", "newsletter"],
  ["Samuel", "Mensah", "Gold Coast Cocoa", "Team", "newsletter"],
  ["Freya", "Hansen", "Lighthouse Inn", "Starter", "newsletter"],
  ["Lucas", "Moreau", "Vélo Moreau", "Starter", "trial"],
  ["Aisha", "Khan", "Saffron Kitchen", "Team", "vip"],
  ["Oliver", "Grant", "Grant Surveyors", "Business", "newsletter"],
  ["Elena", "Marin", "Marin Ceramics", "Starter", "newsletter"],
  ["Tomasz", "Zielinski", "Amber Audio", "Team", "newsletter"],
  ["Grace", "Adeyemi", "Lagos Looms", "Business", "vip"],
  ["Viktor", "Lindqvist", "Lindqvist Boats", "Team", "trial"],
] as const;

const toAddress = (first: string, last: string): string =>
  `${first}.${last}@example.com`
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/\p{Diacritic}/gu, "");

/** The contacts of Acme, as they are imported. */
export const PEOPLE = CUSTOMERS.map(([firstName, lastName, company, plan, tag], i) => ({
  email: toAddress(firstName, lastName),
  firstName,
  lastName,
  tags: ["customer", tag],
  customFields: { company, plan, seats: 1 + ((i * 7) % 12), renewsOn: `2027-0${1 + (i % 9)}-15` },
}));

export const [AMARA, JONAS, PRIYA, MATEO, HANNAH] = PEOPLE.map(({ email }) => email) as [string, string, string, string, string];
