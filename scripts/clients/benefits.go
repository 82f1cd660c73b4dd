package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2/clientcredentials"
)

// Benefits sends requests with a token that it renews, and again under the same key while the service cannot answer.
type Benefits struct {
	tokens *http.Client
	key    string
}

// NewBenefits is for the generated client: api.NewClientWithResponses(baseURL, api.WithHTTPClient(benefits)).
func NewBenefits(baseURL, id, secret, key string) Benefits {
	asking := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: baseURL + "/oauth2/token"}
	return Benefits{asking.Client(context.Background()), key}
}

func (b Benefits) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("x-api-key", b.key)
	for wait := time.Second / 2; ; wait *= 2 {
		answer, err := b.tokens.Do(request)
		isPassing := err != nil || strings.Contains("408 429 500 502 503 504", strconv.Itoa(answer.StatusCode))
		if !isPassing || wait > 4*time.Second || request.Header.Get("Idempotency-Key") == "" {
			return answer, err
		}
		asked := 0
		if err == nil {
			asked, _ = strconv.Atoi(answer.Header.Get("Retry-After"))
			answer.Body.Close()
		}
		time.Sleep(max(wait, time.Duration(asked)*time.Second))
		if request.GetBody != nil {
			request.Body, _ = request.GetBody()
		}
	}
}
