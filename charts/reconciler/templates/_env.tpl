{{/* The variables of every pod of the chart: docs/configuration.md says what each means. */}}
{{- define "reconciler.env" -}}
{{- $secret := include "reconciler.secretName" . -}}
- name: RUNNERS_ENV
  value: {{ .Values.environment | quote }}
- name: K8S_NAMESPACE
  value: {{ .Values.runnerNamespace | quote }}
- name: GHAPP_ORG_ID
  value: {{ include "reconciler.wholeNumber" .Values.github.organizationAppId | quote }}
- name: GHAPP_PERSONAL_ID
  value: {{ include "reconciler.wholeNumber" .Values.github.personalAppId | quote }}
{{- range $name := list "POSTGRES_URL" "GHAPP_ORG_PRIVATE_KEY" "GHAPP_PERSONAL_PRIVATE_KEY" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: {name: {{ $secret | quote }}, key: {{ $name }}}
{{- end }}
{{- with .Values.kubeconfig.secretKey }}
- name: K8S_KUBECONFIG
  valueFrom:
    secretKeyRef: {name: {{ $secret | quote }}, key: {{ . | quote }}}
{{- end }}
{{- with .Values.github.apiUrl }}
- name: GITHUB_API_URL
  value: {{ . | quote }}
{{- end }}
{{- if .Values.config.runners }}
- name: RUNNERS_CONFIG
  value: /etc/riscv-runners/runners.toml
{{- end }}
{{- if .Values.config.routes }}
- name: ROUTES_FILE
  value: /etc/riscv-runners/routes.toml
{{- end }}
{{- with .Values.site.url }}
- name: SITE_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.site.endpointUrl }}
- name: AWS_ENDPOINT_URL
  value: {{ . | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
