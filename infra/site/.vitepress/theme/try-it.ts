import { withBase } from 'vitepress';
import { defineComponent, h, onMounted, ref } from 'vue';

/** The calls of the HTTP API with forms that send them: Swagger UI, from this site's own files. */
export const TryIt = defineComponent({
  setup() {
    const target = ref<HTMLElement>();
    onMounted(async () => {
      await import('swagger-ui-dist/swagger-ui.css');
      const { default: swaggerUi } = await import('swagger-ui-dist/swagger-ui-es-bundle.js');
      swaggerUi({
        domNode: target.value,
        url: withBase('/openapi.json'),
        docExpansion: 'none',
        defaultModelsExpandDepth: -1,
        deepLinking: true,
        // The service of the makers that judges descriptions, which would need a request to them.
        validatorUrl: null,
      });
    });
    return () => h('div', { ref: target, class: 'try-it-calls' });
  },
});
