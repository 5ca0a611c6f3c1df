/** The address of the service, without a slash at its end. */
export const base = new URL(document.documentElement.dataset.root, location.href).href.replace(/\/$/, '');

/** Returns the elements of a selector, in the order of the document. */
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Returns a new element with these properties and children. */
export const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
