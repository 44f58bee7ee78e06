/** Makes an element: `properties` are set as properties, or as attributes where they hold a `-`. Text stays text. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (key.includes('-') || key === 'role') made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

export function button(text, onClick, className = '') {
  const made = element('button', { type: 'button', textContent: text, className });
  made.addEventListener('click', onClick);
  return made;
}
