/** Sets up the inbox in the header: a chip that opens a panel over the page. Escape or a click elsewhere closes it. */
export function setUpInbox(inbox, server) {
  const title = document.title;
  inbox.server = server;
  inbox.addEventListener('elicitation-inbox-change', ({ detail: { waiting } }) => {
    inbox.toggleAttribute('data-waits', waiting > 0);
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  });
  inbox.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') inbox.collapsed = true;
  });
  document.addEventListener('pointerdown', (event) => {
    if (!event.composedPath().includes(inbox)) inbox.collapsed = true;
  });
}
