// A page without a library: reads the person's inbox as server-sent events over fetch, shows each question as a card.

const cards = document.querySelector('#cards');
const line = document.querySelector('#line');
const session = await (await fetch('/session')).json();
const authorization = { authorization: `Bearer ${session.token}` };

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

function fieldOf(name, schema, required) {
  const id = `field-${name}`;
  const label = element('label', {
    htmlFor: id,
    textContent: `${schema.title ?? name}${required ? '' : ' (optional)'}`,
  });
  const error = element('span', { className: 'error', id: `${id}-error` });
  if (schema.type === 'boolean') {
    const input = element('input', { id, name, type: 'checkbox', checked: schema.default ?? false });
    return element('div', { className: 'field check' }, input, label, error);
  }
  const choices = schema.enum ?? schema.oneOf?.map((option) => option.const);
  const input = choices
    ? element(
        'select',
        { id, name },
        ...choices.map((choice) => element('option', { value: choice, textContent: choice })),
      )
    : element('input', {
        id,
        name,
        type: schema.type === 'string' ? 'text' : 'number',
        value: schema.default ?? '',
      });
  input.setAttribute('aria-describedby', error.id);
  return element('div', { className: 'field' }, label, input, error);
}

function contentOf(form, schema) {
  const content = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const input = form.elements[name];
    if (field.type === 'boolean') content[name] = input.checked;
    else if (input.value !== '') content[name] = field.type === 'string' ? input.value : Number(input.value);
  }
  return content;
}

async function answer(elicitation, form, action) {
  const accepts = action === 'accept' && elicitation.mode === 'form';
  const response = await fetch(`${session.api}/v1/elicitations/${elicitation.elicitationId}/response`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      action,
      ...(accepts && { content: contentOf(form, elicitation.requestedSchema) }),
    }),
  });
  for (const shown of form.querySelectorAll('.error')) shown.textContent = '';
  if (response.ok) return;
  const problem = await response.json();
  line.textContent = problem.detail;
  for (const { path, message } of problem.errors ?? []) {
    const shown = form.querySelector(`#${CSS.escape(`field-${path}-error`)}`);
    if (shown) shown.textContent = message;
  }
}

function actionsOf(elicitation, form) {
  const button = (text, action, main) => {
    const made = element('button', { type: 'button', textContent: text, className: main ? 'main' : '' });
    made.addEventListener('click', () => {
      // Opened in the click itself, or the browser blocks it.
      if (action === 'accept' && elicitation.mode === 'url')
        window.open(elicitation.url, '_blank', 'noopener');
      void answer(elicitation, form, action);
    });
    return made;
  };
  return element(
    'p',
    { className: 'actions' },
    button(elicitation.mode === 'form' ? 'Send' : 'Open the page', 'accept', true),
    button('Decline', 'decline', false),
    button('Not now', 'cancel', false),
  );
}

function show(elicitation) {
  document.getElementById(elicitation.elicitationId)?.remove();
  const form = element('form', { className: 'card', id: elicitation.elicitationId });
  form.append(element('h2', { textContent: elicitation.title ?? 'A question' }));
  form.append(element('p', { textContent: elicitation.message }));
  if (elicitation.mode === 'form') {
    const { properties, required = [] } = elicitation.requestedSchema;
    for (const [name, schema] of Object.entries(properties))
      form.append(fieldOf(name, schema, required.includes(name)));
  } else {
    form.append(element('p', {}, element('code', { textContent: elicitation.url })));
    if (elicitation.status === 'opened')
      form.append(element('p', { textContent: 'Waiting for you in the other window.' }));
  }
  form.append(actionsOf(elicitation, form));
  const until = new Date(elicitation.expiresAt).toLocaleTimeString();
  form.append(element('p', { className: 'fine', textContent: `Open until ${until}` }));
  cards.prepend(form);
}

function settle(elicitation) {
  document.getElementById(elicitation.elicitationId)?.remove();
  line.textContent = `${elicitation.title ?? 'A question'}: ${elicitation.status}.`;
}

function take(event, data) {
  if (event === 'inbox-snapshot') {
    cards.replaceChildren();
    line.textContent = `Signed in as ${session.userId}. ${data.elicitations.length === 0 ? 'Nothing waits for you yet.' : ''}`;
    for (const elicitation of data.elicitations.reverse()) show(elicitation);
  } else if (event === 'elicitation-resolved') settle(data);
  else if (event.startsWith('elicitation-')) show(data);
}

async function read() {
  const response = await fetch(`${session.api}/v1/inbox/events`, { headers: authorization });
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const event = /^event: (.*)$/m.exec(frame)?.[1];
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (event && data) take(event, JSON.parse(data));
    }
  }
}

for (;;) {
  await read().catch(() => undefined);
  line.textContent = 'Reconnecting…';
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
