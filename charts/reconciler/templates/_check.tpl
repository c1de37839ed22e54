{{/*
What the schema cannot say well: settings that only make sense together. All that is wrong is said at
once, with what to do about it.
*/}}
{{- define "reconciler.check" -}}
{{- $faults := list -}}
{{- $ways := "set either secret.existingName, to the name of a Secret with the keys POSTGRES_URL, GHAPP_ORG_PRIVATE_KEY and GHAPP_PERSONAL_PRIVATE_KEY, or secret.create with postgresUrl, organizationPrivateKey and personalPrivateKey" -}}
{{- $existing := .Values.secret.existingName -}}
{{- $create := .Values.secret.create -}}
{{- if and $existing $create -}}
{{- $faults = append $faults (printf "secret: both ways are used; %s" $ways) -}}
{{- else if not (or $existing $create) -}}
{{- $faults = append $faults (printf "secret: neither way is used; %s" $ways) -}}
{{- end -}}
{{- $key := .Values.kubeconfig.secretKey -}}
{{- with $create -}}
{{- if and $key (not .kubeconfig) -}}
{{- $faults = append $faults (printf "secret.create.kubeconfig: kubeconfig.secretKey is %s, but nothing would be under that key; set it to the kubeconfig's text" $key) -}}
{{- else if and .kubeconfig (not $key) -}}
{{- $faults = append $faults "kubeconfig.secretKey: secret.create.kubeconfig would not be used; set it to a key, such as KUBECONFIG" -}}
{{- end -}}
{{- end -}}
{{- if has $key (list "POSTGRES_URL" "GHAPP_ORG_PRIVATE_KEY" "GHAPP_PERSONAL_PRIVATE_KEY") -}}
{{- $faults = append $faults (printf "kubeconfig.secretKey: %s is the key of something else" $key) -}}
{{- end -}}
{{- if eq (include "reconciler.wholeNumber" .Values.github.organizationAppId) (include "reconciler.wholeNumber" .Values.github.personalAppId) -}}
{{- $faults = append $faults "github.organizationAppId and github.personalAppId are the same App; make two" -}}
{{- end -}}
{{- if and .Values.alerts.enabled (not .Values.podMonitor.enabled) (not .Values.alerts.selector) -}}
{{- $faults = append $faults "alerts.selector: without podMonitor.enabled the alerts cannot know the metrics; set it to matchers such as job=\"runners\", or enable the PodMonitor" -}}
{{- end -}}
{{- $own := list "RUNNERS_ENV" "K8S_NAMESPACE" "GHAPP_ORG_ID" "GHAPP_PERSONAL_ID" "POSTGRES_URL" "GHAPP_ORG_PRIVATE_KEY" "GHAPP_PERSONAL_PRIVATE_KEY" "K8S_KUBECONFIG" "GITHUB_API_URL" "RUNNERS_CONFIG" "ROUTES_FILE" "SITE_URL" "AWS_ENDPOINT_URL" -}}
{{- range .Values.extraEnv -}}
{{- if has .name $own -}}
{{- $faults = append $faults (printf "extraEnv: %s has a value of its own; use that" .name) -}}
{{- end -}}
{{- end -}}
{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot be used:\n- %s\n" (join "\n- " $faults)) -}}
{{- end -}}
{{- end }}
