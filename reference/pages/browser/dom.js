const { lang, dataset } = document.documentElement;

/** The language of the page. */
export const language = lang;

/** The address of the service, without a slash at its end. */
export const base = new URL(dataset.root, location.href).href.replace(/\/$/, '');

/** Returns the elements of a selector, in the order of the document. */
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Returns a new element with a text. */
export const element = (name, text) => Object.assign(document.createElement(name), { textContent: text });
