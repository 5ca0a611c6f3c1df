/** Whom sellers of a deployment ask for help, and where they see its state. */
export interface Support {
  readonly email: string;
  readonly statusUrl: string | null;
}

/** What the pages of one deployment have that those of another lack. */
export interface Site {
  /** Served by `npm start`: the pages show the keys of its demo, and what is on the reader's machine. */
  readonly isLocal: boolean;
  readonly support: Support | null;
}

/** In the guides a quotation is a box about the service on the reader's machine. */
const BOX = /^>.*\n(?:>.*\n)*\n?/gm;

/** Returns the Markdown of a guide for a site. */
export const textFor = ({ isLocal }: Site, text: string): string => (isLocal ? text : text.replace(BOX, ''));
