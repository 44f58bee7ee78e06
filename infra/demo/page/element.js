/** Makes an element: `properties` are set as properties, and text stays text. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
