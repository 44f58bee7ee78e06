import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, onUnmounted, type Ref, ref, watchEffect } from 'vue';
import { POD_ADDRESS } from '../../pod-address.ts';

interface CallRequest {
  readonly loadSpec?: boolean;
  url: string;
  readonly headers: Record<string, string>;
}

const nothing = () => null;
/** Hides what Swagger UI shows above its calls, because this page has its own heading, address and token. */
const WITHOUT_HEAD = () => ({
  components: {
    InfoContainer: nothing,
    ServersContainer: nothing,
    AuthorizeBtnContainer: nothing,
    authorizeOperationBtn: nothing,
  },
});

/** Adds to Swagger UI the heading levels and labels that it lacks on a page with other content. */
function repair(target: HTMLElement): void {
  const set = (selector: string, name: string, value: string) => {
    for (const element of target.querySelectorAll(`${selector}:not([${name}])`))
      element.setAttribute(name, value);
  };
  set('h3.opblock-tag', 'aria-level', '2');
  set('h4', 'aria-level', '3');
  set('h5', 'aria-level', '4');
  set('textarea', 'aria-label', 'Body');
  set('pre', 'tabindex', '0');
}

/** The calls of the HTTP API with forms that send them. It uses Swagger UI from this site's own files. */
export const TryIt = defineComponent({
  setup() {
    const { isDark } = useData();
    const target = ref<HTMLElement>();
    const address = ref(POD_ADDRESS);
    // The token exists only in the page's memory.
    const token = ref('');
    const root = () => document.documentElement.classList;
    let observer: MutationObserver | undefined;
    onMounted(async () => {
      const place = target.value;
      if (place === undefined) return;
      observer = new MutationObserver(() => repair(place));
      observer.observe(place, { childList: true, subtree: true });
      watchEffect(() => root().toggle('dark-mode', isDark.value));
      await import('swagger-ui-dist/swagger-ui.css');
      const { default: swaggerUi } = await import('swagger-ui-dist/swagger-ui-es-bundle.js');
      swaggerUi({
        domNode: place,
        url: withBase('/openapi.json'),
        docExpansion: 'list',
        defaultModelsExpandDepth: -1,
        plugins: [WITHOUT_HEAD],
        // Swagger UI's public validator is not used, because that would send it a request.
        validatorUrl: null,
        requestInterceptor(request: CallRequest) {
          if (request.loadSpec) return request;
          request.url = request.url.replace(POD_ADDRESS, address.value.replace(/\/$/, ''));
          if (token.value !== '') request.headers.authorization = `Bearer ${token.value}`;
          return request;
        },
      });
    });
    onUnmounted(() => {
      observer?.disconnect();
      root().remove('dark-mode');
    });
    return () => [
      h('section', { class: 'try-it-fields', 'aria-label': 'Where the calls go' }, [
        field('Address of your pod', 'url', address),
        field('Token: of a person, or a service key', 'password', token),
      ]),
      h('div', { ref: target, class: 'try-it-calls' }),
    ];
  },
});

function field(label: string, type: 'url' | 'password', value: Ref<string>) {
  return h('label', [
    label,
    h('input', {
      type,
      value: value.value,
      autocomplete: 'off',
      spellcheck: false,
      onInput: (event: InputEvent) => {
        value.value = (event.target as HTMLInputElement).value;
      },
    }),
  ]);
}
